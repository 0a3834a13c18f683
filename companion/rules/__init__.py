"""The rules of Mille Bornes: pure functions without camera, clock, randomness or storage."""
