"""The rules of Mille Bornes, and nothing else: no camera, no clock, no chance, no storage."""
