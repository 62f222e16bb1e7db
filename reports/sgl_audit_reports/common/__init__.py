"""What every report shares: readable text, names, order, and the overview of an audit."""
