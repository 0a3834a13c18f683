"""Who holds which phone, where they sit, and what each may do."""
