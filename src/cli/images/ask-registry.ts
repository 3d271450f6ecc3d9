/**
 * Asks a registry whether it has an image, by the distribution API (`HEAD /v2/…/manifests/…`), with basic or token authentication.
 * Sends credentials only to the registry itself, or to the token service that it names over HTTPS.
 */
import { Agent, request } from 'undici'
import { asRecord, asString } from '../../api/json.ts'
import { formatError } from '../../errors/failure.ts'
import type { ImageReference } from '../../images/image-reference.ts'

export type RegistryAnswer =
  | { readonly kind: 'present' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown'; readonly reason: string }

export interface RegistrySettings {
  /** `user:password` in base64 by registry, from an auth file. */
  readonly auths: ReadonlyMap<string, string>
  readonly ca?: string
  readonly plainHttp?: boolean
  readonly stop: AbortSignal
}

export interface Registry {
  readonly ask: (image: ImageReference) => Promise<RegistryAnswer>
  readonly close: () => Promise<void>
}

const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
const TIMEOUT_MS = 30_000
/** A token has a few thousand. */
const MAX_RESPONSE_BYTES = 2 ** 20

export function openRegistry({ auths, ca, plainHttp = false, stop }: RegistrySettings): Registry {
  const dispatcher = new Agent({
    connect: { ...(ca !== undefined && { ca }) },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_RESPONSE_BYTES,
  })
  const scheme = plainHttp ? 'http' : 'https'
  const send = (method: 'HEAD' | 'GET', url: string, authorization?: string) =>
    request(url, {
      method,
      dispatcher,
      signal: stop,
      headers: { accept: ACCEPT, ...(authorization !== undefined && { authorization }) },
    })

  const fetchToken = async (challenge: string, basic: string | undefined): Promise<string | undefined> => {
    const realm = /realm="([^"]+)"/.exec(challenge)?.[1]
    if (realm === undefined || !URL.canParse(realm)) return undefined
    const url = new URL(realm)
    if (url.protocol !== 'https:' && !plainHttp) return undefined
    for (const name of ['service', 'scope']) {
      const value = new RegExp(`${name}="([^"]+)"`).exec(challenge)?.[1]
      if (value !== undefined) url.searchParams.set(name, value)
    }
    const { statusCode, body } = await send('GET', url.href, basic === undefined ? undefined : `Basic ${basic}`)
    if (statusCode !== 200) {
      await body.dump()
      return undefined
    }
    const { token, access_token: access } = asRecord(await body.json())
    return asString(token) ?? asString(access)
  }

  const ask = async ({ registry, repository, reference }: ImageReference): Promise<RegistryAnswer> => {
    const url = `${scheme}://${registry}/v2/${repository}/manifests/${reference}`
    const basic = auths.get(registry)
    try {
      let response = await send('HEAD', url)
      await response.body.dump()
      if (response.statusCode === 401) {
        const challenge = String(response.headers['www-authenticate'] ?? '')
        const token = /^bearer/i.test(challenge) ? await fetchToken(challenge, basic) : undefined
        const authorization = token === undefined ? basic && `Basic ${basic}` : `Bearer ${token}`
        if (authorization === undefined) return { kind: 'unknown', reason: 'it asks for credentials' }
        response = await send('HEAD', url, authorization)
        await response.body.dump()
      }
      if (response.statusCode === 200) return { kind: 'present' }
      if (response.statusCode === 404) return { kind: 'missing' }
      return { kind: 'unknown', reason: `HTTP status ${response.statusCode}` }
    } catch (thrown) {
      stop.throwIfAborted()
      return { kind: 'unknown', reason: formatError(thrown) }
    }
  }
  return { ask, close: () => dispatcher.close() }
}

/** The entries of a containers auth file (`auth.json`, `config.json`, a pull secret). */
export function parseAuthFile(text: string): ReadonlyMap<string, string> {
  const entries = Object.entries(asRecord(asRecord(JSON.parse(text))['auths']))
  return new Map(
    entries.flatMap(([registry, value]) => {
      const auth = asString(asRecord(value)['auth'])
      return auth === undefined ? [] : [[registry.replace(/^https?:\/\//, '').replace(/\/.*$/, ''), auth] as const]
    }),
  )
}
