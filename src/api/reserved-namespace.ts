/** Knows the namespaces that no cloud may have: those of the cluster itself, and that of our records. Pure. */

/** Inventories and the Lease of runs. */
export const SYSTEM_NAMESPACE = 'stackloom-system'

/** The reason why a cloud cannot have this namespace. */
export function explainReservedNamespace(name: string): string | undefined {
  if (name === SYSTEM_NAMESPACE) return 'it has the records of all clouds'
  const isOfCluster = name === 'default' || name === 'openshift' || /^(kube|openshift)-/.test(name)
  return isOfCluster ? 'it belongs to the cluster' : undefined
}
