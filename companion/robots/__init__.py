"""Robot players. Their types give them only public facts and their own hand."""
