"""The Implicit Bias of Gradient Descent on Separable Data (Soudry et al. 2018, arXiv 1710.10345), for marginaudit."""
