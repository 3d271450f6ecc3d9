/** SL11xx: talking to Kubernetes. */
export {}
