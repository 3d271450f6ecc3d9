/** SL9580 to SL9589, SL9670, SL9671: the control plane of a cloud. */
import { problem } from '../../errors/finding.ts'

export const secretMissing = problem<{ reader: string; harm: string }>({
  code: 'SL9580',
  severity: 'error',
  message: ({ reader, harm }) => `${reader} refers to it, but it does not exist: ${harm}`,
  remedy: () =>
    "run `stackloom up --stage secrets`, which creates it with random values; do not copy another cloud's Secret",
})

export const secretKeyMissing = problem<{ keys: readonly string[]; service: string }>({
  code: 'SL9581',
  severity: 'error',
  message: ({ keys, service }) => `it has no ${keys.join(', ')}, which ${service} reads`,
  remedy: () => 'run `stackloom up --stage secrets`, which adds the missing keys and changes nothing else',
})

export const heldInStage = problem<{ stage: string; remove: string }>({
  code: 'SL9670',
  severity: 'error',
  message: ({ stage }) => `it is held in the deployment stage ${stage}, so its services are not deployed or updated`,
  remedy: ({ remove }) =>
    `finish the restore that set it with the same command, or remove the annotation: \`${remove}\``,
})

export const backupOld = problem<{ backup: string; days: number; namespace: string }>({
  code: 'SL9671',
  severity: 'warning',
  message: ({ backup, days }) => `its last backup ${backup} is ${days} days old`,
  remedy: ({ namespace }) => `back it up: \`stackloom backup -n ${namespace} --out DIR --recipient KEY\``,
})

export const conditionError = problem<{ condition: string; message: string; describe: string }>({
  code: 'SL9582',
  severity: 'error',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: ({ describe }) => `\`${describe}\``,
})

export const serviceError = problem<{ condition: string; message: string; describe: string }>({
  code: 'SL9583',
  severity: 'error',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: ({ describe }) => `\`${describe}\``,
})

export const twoControlPlanes = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9584',
  severity: 'error',
  message: ({ namespace, names }) => `${namespace} has ${names.join(' and ')}: they overwrite each other's Services`,
  remedy: () => 'a cloud needs its own namespace: delete one of the control planes, or move it to another namespace',
})

export const foreignEndpoint = problem<{ endpoint: string; url: string; other: string }>({
  code: 'SL9585',
  severity: 'error',
  message: ({ endpoint, url, other }) => `its ${endpoint} endpoint is ${url}, which belongs to ${other}`,
  remedy: () =>
    'check managedFields for the writer (`kubectl get keystoneendpoint -o yaml`), then correct the override of that service in the control plane',
})

export const operatorMissing = problem<{ clouds: number }>({
  code: 'SL9586',
  severity: 'error',
  message: ({ clouds }) =>
    `it was never reconciled, and no OpenStack object exists: the service operators of ${clouds === 1 ? 'this cloud' : `these ${clouds} clouds`} were never started`,
  remedy: () => 'run `stackloom up --stage openstack-init`, which creates it and waits for the operators',
})

export const databaseClaimPending = problem<{
  database: string
  pod: string
  services: readonly string[]
  describe: string
}>({
  code: 'SL9587',
  severity: 'error',
  message: ({ database, pod, services }) =>
    `it is pending, so ${pod} of ${database} does not start${services.length > 0 ? `, and there is no database for ${services.join(', ')}` : ''}`,
  remedy: ({ describe }) =>
    `check what it waits for: \`${describe}\`; then check that its storage class has a provisioner, or create a matching volume: \`kubectl get storageclass,pv\``,
})
