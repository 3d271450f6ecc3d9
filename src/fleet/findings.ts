/** SL416x: fleets: the fleet file, subnets of sites that share routers, updates from site to site. */
import { problem } from '../errors/finding.ts'

export const duplicateSite = problem<{ name: string }>({
  code: 'SL4160',
  severity: 'error',
  message: ({ name }) => `two sites of the fleet are called ${name}`,
  remedy: ({ name }) => `give each site its own name, or remove one ${name}`,
})

export const sameCluster = problem<{ sites: readonly string[]; cluster: string }>({
  code: 'SL4161',
  severity: 'warning',
  message: ({ sites, cluster }) => `${sites.join(' and ')} have the same cluster: ${cluster}`,
  remedy: () => 'name the context of each site: a site is one cluster, and its shared objects belong to one site file',
})

interface Overlap {
  readonly a: string
  readonly b: string
  readonly shared: string
  readonly router: string
}

export const routedOverlap = problem<Overlap>({
  code: 'SL4162',
  severity: 'error',
  message: ({ a, b, shared, router }) => `${a} and ${b} overlap in ${shared}, and both are routed by ${router}`,
  remedy: ({ b }) =>
    `give ${b} another subnet, or remove the router from \`routers\` of one site if it does not serve both`,
})

export const unroutedOverlap = problem<Overlap>({
  code: 'SL4163',
  severity: 'warning',
  message: ({ a, b, shared, router }) =>
    `${a} and ${b} overlap in ${shared}; they can never both be routed by ${router}, which the sites share`,
  remedy: ({ b }) => `give ${b} another subnet before a route to it is needed`,
})

export const siteUnreachable = problem<{ site: string; reason: string }>({
  code: 'SL4164',
  severity: 'warning',
  message: ({ site, reason }) => `site ${site} was left out: ${reason}`,
  remedy: ({ site }) => `make the cluster of ${site} reachable and run the same command again`,
})

export const siteNotClean = problem<{ site: string; cloud: string; check: string; reason: string; waiting: number }>({
  code: 'SL4165',
  severity: 'error',
  message: ({ site, cloud, check, reason, waiting }) =>
    `${check} of site ${site} is not clean, so the update stops at its cloud ${cloud} and ${waiting === 1 ? 'one cloud keeps its' : `${waiting} clouds keep their`} version: ${reason}`,
  remedy: ({ site, check }) =>
    `repair it (\`stackloom ${check}\` with the file and context of ${site} shows all), then run the same command: it continues there`,
})

export const canaryUnreachable = problem<{ site: string; reason: string }>({
  code: 'SL4168',
  severity: 'error',
  message: ({ site, reason }) => `nothing was updated, because the canary ${site} cannot be reached: ${reason}`,
  remedy: ({ site }) => `make the cluster of ${site} reachable, or mark another site with \`canary: true\``,
})

export const fleetNeedsConsent = problem<{ fleet: string; clouds: number }>({
  code: 'SL4166',
  severity: 'error',
  message: ({ fleet, clouds }) =>
    `${clouds} cloud${clouds === 1 ? '' : 's'} of fleet ${fleet} would be updated, and this was not confirmed`,
  remedy: () => "run the same command on a terminal and type the fleet's name, or with --yes",
})

export const updateFailed = problem<{ site: string; cloud: string; reason: string }>({
  code: 'SL4167',
  severity: 'error',
  message: ({ site, cloud, reason }) => `the update of cloud ${cloud} of site ${site} did not end well: ${reason}`,
  remedy: () => 'repair the cause and run the same command: it resumes this cloud, then goes on',
})
