"""Pages of HTML about a memory and about a comparison: one file each, which loads nothing from elsewhere."""
