/** Volume claims: bound, or why not. */
import { lastSaid } from './events.ts'
import { nameOf, sinceMs, textAt } from './read.ts'
import { failed, progressing, type ReadinessRule, ready } from './verdict.ts'

export const claimReadiness: ReadinessRule = (claim, { around, now, grace }) => {
  const phase = textAt(claim, 'status', 'phase')
  const describe = `kubectl -n ${claim.metadata.namespace} describe pvc ${claim.metadata.name}`
  if (phase === 'Bound') return ready
  if (phase === 'Lost') return failed(`${nameOf(claim)} has lost its volume`, describe)
  const storageClass = textAt(claim, 'spec', 'storageClassName')
  const classes = around.all('storage.k8s.io/StorageClass')
  const known = classes.some(({ metadata }) => metadata.name === storageClass)
  if (storageClass !== undefined && classes.length > 0 && !known)
    return failed(
      `${nameOf(claim)} asks for the storage class ${storageClass}, which does not exist`,
      'kubectl get storageclass',
    )
  const said = lastSaid(claim, ['ProvisioningFailed', 'FailedBinding'], around)
  if (said && sinceMs(said.first, now) >= grace.allocationMs)
    return failed(`${nameOf(claim)} stays pending: ${said.message}`, describe)
  return progressing(`${nameOf(claim)} to be bound${said ? `: ${said.message}` : ''}`)
}
