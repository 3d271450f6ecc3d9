/** Logs in to a cloud and asks every service of its catalog, as a client would. Changes nothing. */
import { formatError } from '../errors/failure.ts'
import { type Login, openConnection, type SessionOptions } from './session.ts'

export interface AskedService {
  /** The type in the catalog: `compute`, `network`, … */
  readonly type: string
  readonly url: string
  /** Absent if the service has answered. */
  readonly problem?: string
}

export type CloudAnswer =
  | { readonly kind: 'no-token'; readonly keystone: string; readonly reason: string }
  | { readonly kind: 'asked'; readonly services: readonly AskedService[] }

/** A list of one entry, which each service reads from its database. Others are asked for their version document. */
const requests: Readonly<Record<string, string>> = {
  identity: '/v3/projects?limit=1',
  compute: '/servers?limit=1',
  image: '/v2/images?limit=1',
  network: '/v2.0/networks?limit=1',
  placement: '/resource_providers',
  volumev3: '/volumes?limit=1',
  orchestration: '/stacks?limit=1',
}

export async function askServices(options: Omit<SessionOptions, 'guard'>): Promise<CloudAnswer> {
  const connection = openConnection({ ...options, guard: refuseWrites })
  let login: Login
  try {
    login = await connection.logIn()
  } catch (thrown) {
    options.signal.throwIfAborted()
    return { kind: 'no-token', keystone: options.authUrl, reason: formatError(thrown) }
  }
  const endpoints = login.catalog.flatMap(({ type, endpoints }) =>
    endpoints.filter((endpoint) => endpoint.interface === options.interface).map(({ url }) => ({ type, url })),
  )
  const ask = async ({ type, url }: { readonly type: string; readonly url: string }): Promise<AskedService> => {
    const root = url.replace(/\/$/, '')
    const target = type === 'identity' ? root.replace(/\/v3$/, '') : root
    try {
      const path = requests[type]
      const headers = { 'x-auth-token': login.token, accept: 'application/json' }
      const { status, body } = await connection.send(`${target}${path ?? '/'}`, { method: 'GET', headers })
      await body?.cancel()
      return isAnswer(status, path !== undefined) ? { type, url } : { type, url, problem: `it answers ${status}` }
    } catch (thrown) {
      options.signal.throwIfAborted()
      return { type, url, problem: formatError(thrown) }
    }
  }
  return { kind: 'asked', services: await Promise.all(endpoints.map(ask)) }
}

/** A service of which no request is known may know nothing at its root, but it must be the service that says so. */
function isAnswer(status: number, isKnown: boolean): boolean {
  return isKnown ? status >= 200 && status < 300 : status < 500
}

function refuseWrites(): void {
  throw new Error('asking a cloud changes nothing')
}
