/**
 * Logs in to Keystone with a password and sends requests to the services of its catalog. Logs in again when the token ends.
 *
 * Every unexpected answer is an error: a caller must not take no answer for an empty list.
 */
import { Agent, fetch, type RequestInit, type Response } from 'undici'
import { asList, asRecord, asString, isRecord } from '../api/json.ts'
import { guardedDispatcher, type WriteGuard } from '../kube/write-guard.ts'

const TIMEOUT_MS = 30_000
/** A thousand instances, which is Nova's limit for a page, are a tenth of it. */
const MAX_RESPONSE_BYTES = 4 * 2 ** 20

const services = {
  compute: { name: 'Nova', headers: { 'OpenStack-API-Version': 'compute 2.53' } },
  network: { name: 'Neutron', headers: {} },
  placement: { name: 'Placement', headers: { 'OpenStack-API-Version': 'placement 1.14' } },
} as const

export type CloudService = keyof typeof services

export interface SessionOptions {
  readonly authUrl: string
  readonly user: string
  readonly password: string
  readonly project: string
  /** Default: `Default`. */
  readonly userDomain?: string
  readonly projectDomain?: string
  /** The endpoints to use: `internal` inside the cluster. */
  readonly interface: 'internal' | 'public'
  readonly ca?: string
  /** Called when a request that changes something is about to be sent; nothing is sent when it throws. */
  readonly guard: WriteGuard
  readonly signal: AbortSignal
  /** Of one request. */
  readonly timeoutMs?: number
}

/** An answer of a service that is not a success. */
export class CloudApiError extends Error {
  readonly status: number
  constructor(message: string, status: number) {
    super(message)
    this.name = 'CloudApiError'
    this.status = status
  }
}

export type CloudApi = <T>(
  service: CloudService,
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: string,
  body?: object,
) => Promise<T>

export interface Login {
  readonly token: string
  readonly catalog: readonly {
    readonly type: string
    readonly endpoints: readonly { readonly interface: string; readonly url: string }[]
  }[]
}

export interface CloudConnection {
  readonly send: (url: string, init: RequestInit) => Promise<Response>
  /** Without the guard, because it changes nothing. */
  readonly logIn: () => Promise<Login>
}

export function openConnection(options: SessionOptions): CloudConnection {
  const { ca, guard, timeoutMs = TIMEOUT_MS } = options
  const dispatcher = new Agent({ maxResponseSize: MAX_RESPONSE_BYTES, ...(ca !== undefined && { connect: { ca } }) })
  const guarded = guardedDispatcher(dispatcher, guard)
  /** A redirect would carry the password or the token to another server. */
  const send = (url: string, init: RequestInit, isGuarded: boolean): Promise<Response> =>
    fetch(url, {
      ...init,
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]),
      dispatcher: isGuarded ? guarded : dispatcher,
      redirect: 'error',
    })
  return {
    send: (url, init) => send(url, init, init.method !== 'GET'),
    logIn: () => logIn(options, (url, init) => send(url, init, false)),
  }
}

export async function openSession(options: SessionOptions): Promise<CloudApi> {
  const { send, logIn } = openConnection(options)
  let login = await logIn()
  return async <T>(service: CloudService, method: string, path: string, body?: object): Promise<T> => {
    const { name, headers } = services[service]
    const request = (): Promise<Response> =>
      send(`${findEndpoint(login, service, options.interface)}${path}`, {
        method,
        headers: { 'x-auth-token': login.token, ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
    let response = await request()
    if (response.status === 401) {
      login = await logIn()
      response = await request()
    }
    if (!response.ok)
      throw new CloudApiError(`${name} answered ${response.status} to ${method} ${path}`, response.status)
    return parseAnswer(await response.text(), `${name} answered ${method} ${path}`, response.status) as T
  }
}

function parseAnswer(text: string, what: string, status: number): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new CloudApiError(`${what} with something else than JSON`, status)
  }
}

/** An id of an answer as a part of a path. Dots would name what is above, so that another request is sent. */
export function pathSegment(id: unknown): string {
  if (typeof id === 'string' && !/^\.*$/.test(id)) return encodeURIComponent(id)
  throw new CloudApiError(`${JSON.stringify(id)} is not an id`, 200)
}

/** The entries of an answer: nothing else may count as none. */
export function readEntries<T>(answer: unknown, name: string): readonly T[] {
  const entries = asRecord(answer)[name]
  if (Array.isArray(entries) && entries.every(isRecord)) return entries as readonly T[]
  throw new CloudApiError(`the answer has no list of ${name}`, 200)
}

async function logIn(
  options: SessionOptions,
  send: (url: string, init: RequestInit) => Promise<Response>,
): Promise<Login> {
  const answer = await send(`${options.authUrl.replace(/\/(v3\/?)?$/, '')}/v3/auth/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(passwordLogin(options)),
  })
  const token = answer.headers.get('x-subject-token')
  if (!answer.ok || token === null) throw new CloudApiError(`Keystone answered ${answer.status}`, answer.status)
  const { catalog = [] } = asRecord(
    asRecord(parseAnswer(await answer.text(), 'Keystone answered', answer.status))['token'],
  )
  return { token, catalog: asList(catalog).map(readCatalogEntry) }
}

function readCatalogEntry(entry: unknown): Login['catalog'][number] {
  const { type, endpoints } = asRecord(entry)
  const texts = asList(endpoints).map((endpoint) => {
    const { interface: side, url } = asRecord(endpoint)
    return { interface: asString(side) ?? '', url: asString(url) ?? '' }
  })
  return { type: asString(type) ?? '', endpoints: texts.filter(({ url }) => /^https?:\/\//.test(url)) }
}

function findEndpoint({ catalog }: Login, service: CloudService, side: SessionOptions['interface']): string {
  const endpoints = catalog.find(({ type }) => type === service)?.endpoints ?? []
  const endpoint = endpoints.find((candidate) => candidate.interface === side) ?? endpoints[0]
  if (!endpoint) throw new CloudApiError(`the Keystone catalog has no ${service} endpoint`, 200)
  return endpoint.url.replace(/\/$/, '')
}

function passwordLogin(options: SessionOptions): object {
  const { user, password, project, userDomain = 'Default', projectDomain = 'Default' } = options
  return {
    auth: {
      identity: { methods: ['password'], password: { user: { name: user, domain: { name: userDomain }, password } } },
      scope: { project: { name: project, domain: { name: projectDomain } } },
    },
  }
}
