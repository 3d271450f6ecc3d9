/** SL2xxx: the site file and the plan. */
export {}
