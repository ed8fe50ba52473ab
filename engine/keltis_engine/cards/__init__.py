"""Cards wherever they lie: their kinds, hands, rows, stacks, the draw pile."""
