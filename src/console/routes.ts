/** Lists the routes of the console's server. Read by the server and by the page, so it imports nothing. */

/** Views of the page, in the order of its menu. */
export const viewNames = ['overview', 'addresses', 'topology', 'run', 'hosts', 'findings', 'lab'] as const
export type ViewName = (typeof viewNames)[number]

/** Documents that the stream keeps current by patches. */
export const documentNames = ['meta', 'overview', 'addresses', 'topology', 'runs', 'hosts', 'findings', 'lab'] as const
export type DocumentName = (typeof documentNames)[number]

/** `GET` unless stated otherwise. A name after a colon is one part of the path, encoded by `encodeURIComponent`. */
export const routes = {
  meta: '/api/meta',
  overview: '/api/overview',
  addresses: '/api/addresses',
  /** Every address of one network. */
  network: '/api/addresses/:cloud/:network',
  topology: '/api/topology',
  /** What one item touches, and what fails with it. */
  topologyItem: '/api/topology/:item',
  runs: '/api/runs',
  run: '/api/runs/:run',
  /** `?from=N`: events from this index on. */
  runEvents: '/api/runs/:run/events',
  /** The object behind one stage, and the logs of its pods. */
  stage: '/api/runs/:run/stages/:stage',
  hosts: '/api/hosts',
  /** Ansible's output of one deployment. */
  deployment: '/api/hosts/:namespace/:deployment',
  findings: '/api/findings',
  lab: '/api/lab',
  /** `?q=QUERY`. */
  search: '/api/search',
  /** Server-sent events; `?documents=overview,findings` limits the patches. */
  stream: '/api/stream',
  /** Actions that were started, with their output. */
  actions: '/api/actions',
  /** `POST` with the header `x-stackloom-action: 1`. */
  action: '/api/actions/:action',
} as const
export type RouteName = keyof typeof routes

/** Required for `POST`: a form of another site cannot set it. */
export const ACTION_HEADER = 'x-stackloom-action'

/** `fillRoute('network', { cloud: 'rhoso1', network: 'storage' })`. */
export function fillRoute(name: RouteName, values: Readonly<Record<string, string>> = {}): string {
  return routes[name].replaceAll(/:(\w+)/g, (_, key: string) => encodeURIComponent(values[key] ?? ''))
}
