/** Names that the running operator and the installer must agree on. */

/** Field manager, and the Lease of the leader. */
export const LEASE_NAME = 'stackloom-operator'

/** Not the namespace of the site's records: that one goes when the site is taken down. */
export const OPERATOR_NAMESPACE = 'stackloom-operator'
