"""Class counts over many steps: draws, binomial tails, intervals around the mean count, quantiles over seeds."""
