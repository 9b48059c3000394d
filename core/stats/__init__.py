"""Statistics of scales: arrays in, frozen results out; no store, no pages."""
