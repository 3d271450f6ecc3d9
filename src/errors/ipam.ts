/** SL5xxx: the IPAM controllers. */
export {}
