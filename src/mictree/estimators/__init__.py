"""scikit-learn's door."""
