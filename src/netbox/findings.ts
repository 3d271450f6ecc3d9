/** SL223x: NetBox: reading it, and comparing it with a plan. */
import { problem } from '../errors/finding.ts'

export const netBoxUnreachable = problem<{ url: string; reason: string }>({
  code: 'SL2230',
  severity: 'error',
  message: ({ url, reason }) => `NetBox at ${url} did not answer as expected: ${reason}`,
  remedy: () => 'check --url and the token; `stackloom netbox --help` names the variables',
})

export const noToken = problem<object>({
  code: 'SL2231',
  severity: 'error',
  message: () => 'there is no token for NetBox',
  remedy: () => 'set NETBOX_TOKEN, or name a file with --token-file; a token is never an argument',
})

export const foreignEntry = problem<{ entry: string; differs: string }>({
  code: 'SL2232',
  severity: 'warning',
  message: ({ entry, differs }) => `NetBox has ${entry}, which Stackloom did not make: ${differs}`,
  remedy: () => 'correct it in NetBox, or give it the tag of the site if Stackloom may change it',
})

export const unnamedPrefix = problem<{ prefix: string; missing: string }>({
  code: 'SL2233',
  severity: 'warning',
  message: ({ prefix, missing }) => `prefix ${prefix} of NetBox was left out: it has no ${missing}`,
  remedy: () => 'set the tenant (name of the cloud) and the role (name of the network) of the prefix in NetBox',
})

export const exportNeedsConsent = problem<{ url: string; changes: number }>({
  code: 'SL2234',
  severity: 'error',
  message: ({ url, changes }) =>
    `${changes} change${changes === 1 ? '' : 's'} would be written to ${url}, and this was not confirmed`,
  remedy: () => 'run the same command on a terminal, or with --yes',
})

export const unknownVrf = problem<{ name: string; url: string }>({
  code: 'SL2236',
  severity: 'error',
  message: ({ name, url }) => `NetBox at ${url} has no VRF ${name}`,
  remedy: ({ name }) => `create the VRF ${name} in NetBox, or name another one with --vrf`,
})

export const badNetBoxUrl = problem<{ url: string; reason: string }>({
  code: 'SL2235',
  severity: 'error',
  message: ({ url, reason }) => `${url} cannot be used for NetBox: ${reason}`,
  remedy: () => 'write the address of NetBox without user and query, such as https://netbox.example.com',
})
