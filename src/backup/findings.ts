/** SL411x to SL413x, SL417x: backups of clouds, their archives, and restores. */
import { problem } from '../errors/finding.ts'

export const brokenArchive = problem<{ folder: string; reason: string }>({
  code: 'SL4110',
  severity: 'error',
  message: ({ folder, reason }) => `${folder} is not a complete backup: ${reason}`,
  remedy: () => 'run the same backup again to complete it, or name the folder of another backup',
})

export const alteredArchive = problem<{ file: string; reason: string }>({
  code: 'SL4111',
  severity: 'error',
  message: ({ file, reason }) => `${file} of the backup was changed after the backup: ${reason}`,
  remedy: () => 'use an unchanged copy of the backup; nothing was restored',
})

export const foreignObject = problem<{ file: string; object: string; reason: string }>({
  code: 'SL4112',
  severity: 'error',
  message: ({ file, object, reason }) => `${file} has ${object}, which no backup contains: ${reason}`,
  remedy: () => 'use an unchanged copy of the backup; nothing was restored',
})

export const wrongKey = problem<{ reason: string }>({
  code: 'SL4113',
  severity: 'error',
  message: ({ reason }) => `the Secrets of the backup cannot be decrypted: ${reason}`,
  remedy: () => 'give the identity file that belongs to the recipient of the backup (`--identity`)',
})

export const badRecipient = problem<{ recipient: string; reason: string }>({
  code: 'SL4114',
  severity: 'error',
  message: ({ recipient, reason }) => `${recipient} is not a recipient of age: ${reason}`,
  remedy: () => 'create a key with `age-keygen -o key.txt` and give its public key, which begins with age1',
})

export const folderNotEmpty = problem<{ folder: string }>({
  code: 'SL4115',
  severity: 'error',
  message: ({ folder }) => `${folder} has files that are not of an unfinished backup`,
  remedy: () => 'choose a new folder with --out',
})

export const otherBackup = problem<{ folder: string; cloud: string; asked: string }>({
  code: 'SL4116',
  severity: 'error',
  message: ({ folder, cloud, asked }) => `${folder} has an unfinished backup of ${cloud}, not of ${asked}`,
  remedy: () => 'choose a new folder with --out',
})

export const databasesLeftOut = problem<{ namespace: string; databases: readonly string[] }>({
  code: 'SL4117',
  severity: 'warning',
  message: ({ namespace, databases }) =>
    `the databases ${databases.join(', ')} of ${namespace} are not in the backup: the cluster has no GaleraBackup`,
  remedy: () => 'dump them with your own tool, or update to an operator that has GaleraBackup (18.0-fr6)',
})

export const volumesLeftOut = problem<{ namespace: string; count: number }>({
  code: 'SL4118',
  severity: 'warning',
  message: ({ namespace, count }) =>
    `${count} volume${count === 1 ? '' : 's'} of ${namespace} ${count === 1 ? 'is' : 'are'} not in the backup`,
  remedy: () => 'back them up with OADP: `--velero-namespace openshift-adp`',
})

export const stepFailed = problem<{ object: string; reason: string }>({
  code: 'SL4119',
  severity: 'error',
  message: ({ object, reason }) => `${object} has failed: ${reason}`,
  remedy: ({ object }) =>
    `see \`kubectl describe\` of ${object}; repair the cause, delete it, and run the same command again`,
})

export const namespaceNotEmpty = problem<{ namespace: string; objects: readonly string[] }>({
  code: 'SL4120',
  severity: 'error',
  message: ({ namespace, objects }) =>
    `namespace ${namespace} is not empty: ${objects.slice(0, 5).join(', ')}${objects.length > 5 ? ` and ${objects.length - 5} more` : ''}`,
  remedy: () => 'remove the cloud first (`stackloom down`), or restore to another cluster; nothing is overwritten',
})

export const addressesDiffer = problem<{ differences: readonly string[] }>({
  code: 'SL4121',
  severity: 'error',
  message: ({ differences }) =>
    `${differences.length} address${differences.length === 1 ? ' is' : 'es are'} not as in the backup: ${differences.slice(0, 5).join('; ')}${differences.length > 5 ? ' …' : ''}`,
  remedy: () =>
    'see `stackloom doctor`; hosts keep their old address until they are deployed, so deploy none before this is solved',
})

export const restoreNeedsConsent = problem<{ cloud: string; namespace: string; server: string }>({
  code: 'SL4122',
  severity: 'error',
  message: ({ cloud, namespace, server }) =>
    `${cloud} would be restored to namespace ${namespace} of ${server}, and this was not confirmed`,
  remedy: () => "run the same command on a terminal and type the cloud's name, or with --yes",
})

export const nothingToBackUp = problem<{ cloud: string; namespace: string }>({
  code: 'SL4123',
  severity: 'error',
  message: ({ cloud, namespace }) => `namespace ${namespace} of ${cloud} has no OpenStackControlPlane`,
  remedy: () => 'choose a cloud that is deployed; `stackloom status` lists them',
})

export const missingKind = problem<{ kinds: readonly string[] }>({
  code: 'SL4124',
  severity: 'error',
  message: ({ kinds }) => `the cluster does not serve ${kinds.join(', ')}, which the backup has`,
  remedy: () =>
    'install the operators in the version of the backup first: `stackloom up` with its site file, `--until operators`',
})

export const dumpsNotRestored = problem<{ databases: readonly string[] }>({
  code: 'SL4125',
  severity: 'warning',
  message: ({ databases }) => `the databases ${databases.join(', ')} were not restored`,
  remedy: () => 'restore the volumes of the backup (`--velero-namespace`), then the dumps by a GaleraRestore each',
})

export const otherSite = problem<{ backup: string; cluster: string }>({
  code: 'SL4170',
  severity: 'error',
  message: ({ backup, cluster }) => `the backup is of site ${backup}, and the cluster has clouds of site ${cluster}`,
  remedy: () => 'choose the cluster of the site with --context, or a cluster without clouds of another site',
})

export const decisionsTaken = problem<{ cloud: string; conflicts: readonly string[] }>({
  code: 'SL4171',
  severity: 'error',
  message: ({ cloud, conflicts }) =>
    `what ${cloud} had is assigned otherwise since the backup: ${conflicts.slice(0, 5).join('; ')}${conflicts.length > 5 ? ` and ${conflicts.length - 5} more` : ''}`,
  remedy: () => 'take down the cloud that has it now (`stackloom down`), or restore to another cluster',
})
