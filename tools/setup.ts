/** Installs what the tests need beyond npm: grows with the suites. */
console.log('setup: nothing to install yet')
