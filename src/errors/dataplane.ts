/** SL7xxx: the data plane controllers. */
export {}
