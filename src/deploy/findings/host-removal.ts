/** SL7201 to SL7239: taking hosts out of a cloud, and maintenance. */
import { problem } from '../../errors/finding.ts'

const listSome = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')

export const hostUnknown = problem<{ host: string; nearest: string | undefined }>({
  code: 'SL7201',
  severity: 'error',
  message: ({ host, nearest }) =>
    `no node set has the host ${host}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
  remedy: () =>
    '`stackloom hosts` lists them; to go on with a host that is no longer in its node set, name its cloud with --cloud or -n',
})

export const hostAmbiguous = problem<{ host: string; namespaces: readonly string[] }>({
  code: 'SL7202',
  severity: 'error',
  message: ({ host, namespaces }) => `${host} is a host of ${namespaces.join(' and ')}`,
  remedy: () => 'name its cloud with --cloud or -n',
})

export const instancesOnHost = problem<{ host: string; instances: readonly string[] }>({
  code: 'SL7203',
  severity: 'error',
  message: ({ host, instances }) => `${host} has ${instances.length} instances: ${listSome(instances)}`,
  remedy: ({ host }) => `migrate them: run it again with --drain, or \`stackloom hosts drain ${host}\`; or delete them`,
})

export const drainIncomplete = problem<{ host: string; reasons: readonly string[] }>({
  code: 'SL7204',
  severity: 'error',
  message: ({ host, reasons }) => `${reasons.length} instances stay on ${host}: ${listSome(reasons)}`,
  remedy: () => 'remove the cause, or migrate or delete them yourself, then run the same command again',
})

export const removalNeedsConsent = problem<{ host: string }>({
  code: 'SL7205',
  severity: 'error',
  message: ({ host }) => `${host} would be changed, and this was not confirmed`,
  remedy: () => 'run the same command on a terminal and confirm, or with --yes',
})

export const lastHost = problem<{ host: string; nodeSet: string; namespace: string }>({
  code: 'SL7206',
  severity: 'error',
  message: ({ host, nodeSet }) => `${host} is the only host of node set ${nodeSet}, which needs one`,
  remedy: ({ nodeSet, namespace }) =>
    `delete the node set instead: \`kubectl -n ${namespace} delete openstackdataplanenodeset ${nodeSet}\`; then run the same command again`,
})

export const hostInSiteFile = problem<{ host: string; cloud: string }>({
  code: 'SL7207',
  severity: 'warning',
  message: ({ host, cloud }) =>
    `the next \`stackloom up\` adds ${host} to ${cloud} again if the site file still has it`,
  remedy: ({ host, cloud }) => `remove ${host} from the hosts of ${cloud} in the site file`,
})

export const cloudApiFailed = problem<{ cloud: string; reason: string }>({
  code: 'SL7208',
  severity: 'error',
  message: ({ cloud, reason }) => `the API of ${cloud} failed: ${reason}`,
  remedy: ({ cloud }) =>
    `check that Keystone, Nova, Neutron and Placement answer from here (\`stackloom access --cloud ${cloud}\` writes clouds.yaml), then run the same command again`,
})

export const hostLeft = problem<{ host: string; left: readonly string[] }>({
  code: 'SL7209',
  severity: 'error',
  message: ({ host, left }) => `something of ${host} is left: ${left.join('; ')}`,
  remedy: () =>
    'run the same command again; what is still left then was made by another program or by hand: delete it there',
})
