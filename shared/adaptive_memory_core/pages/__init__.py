"""What can be drawn as a page of HTML? A memory and a comparison: one file each, which loads nothing from elsewhere."""
