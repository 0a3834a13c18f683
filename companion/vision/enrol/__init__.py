"""Enrolling a deck: from pictures of single cards to the templates by which they are recognised."""
