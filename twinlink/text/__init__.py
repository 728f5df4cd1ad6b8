"""Words of a text: tokens, stems, numbers, values, and counts of terms."""
