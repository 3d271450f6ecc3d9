/** SL4xxx: deploying a site. */
export {}
