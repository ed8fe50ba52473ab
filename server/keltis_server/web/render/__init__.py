"""What pages are made with: templates, words, drawings, assets."""
