"""The rules of Mille Bornes: pure functions without camera, clock, random numbers or storage."""
