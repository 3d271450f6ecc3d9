/**
 * Finds out which kinds the server has and where, once per group and version, on demand.
 *
 * Found kinds are cached. Missing ones are looked up again each time, because CRDs are installed while we run.
 */
import { asRecord } from '../api/json.ts'
import type { GroupVersionKind } from '../api/object.ts'
import { isApiError, malformedResponse } from './api-error.ts'
import type { Resource } from './client.ts'
import { groupPath } from './paths.ts'
import { abortable } from './signals.ts'
import type { Transport } from './transport.ts'

export interface Discovery {
  readonly resource: (kind: GroupVersionKind, signal?: AbortSignal) => Promise<Resource | undefined>
  /** The served versions of a group, the preferred one first. */
  readonly versions: (group: string, signal?: AbortSignal) => Promise<readonly string[]>
  /** Forgets the kinds of a version after the server denied one: the next request looks them up again. */
  readonly invalidate: (apiVersion: string) => void
}

type Kinds = ReadonlyMap<string, Resource>

export function createDiscovery(transport: Transport): Discovery {
  const known = new Map<string, Kinds>()
  const pending = new Map<string, Promise<Kinds>>()

  // Callers share one request, so none of them may abort it: a caller that gives up only stops waiting.
  const discoverKinds = (apiVersion: string): Promise<Kinds> => {
    const running = pending.get(apiVersion)
    if (running) return running
    const lookup = fetchKinds(transport, apiVersion)
      .then((kinds) => {
        if (kinds.size > 0) known.set(apiVersion, kinds)
        return kinds
      })
      .finally(() => pending.delete(apiVersion))
    pending.set(apiVersion, lookup)
    // The caller may have stopped waiting: an error that no caller handles would end the program.
    lookup.catch(() => undefined)
    return lookup
  }

  return {
    resource: async ({ apiVersion, kind }, signal) =>
      known.get(apiVersion)?.get(kind) ?? (await abortable(discoverKinds(apiVersion), signal)).get(kind),
    versions: (group, signal) => fetchVersions(transport, group, signal),
    invalidate: (apiVersion) => void known.delete(apiVersion),
  }
}

interface ApiResource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

async function fetchKinds(transport: Transport, apiVersion: string): Promise<Kinds> {
  const body = await get(transport, groupPath(apiVersion), apiVersion)
  if (body === undefined) return new Map()
  const { resources } = asRecord(body)
  if (!Array.isArray(resources) || !resources.every(isResource)) {
    const request = { server: transport.server, verb: 'discover', subject: apiVersion }
    throw malformedResponse(`no list of resources for ${apiVersion}`, request)
  }
  const kinds = new Map<string, Resource>()
  for (const { name, kind, namespaced, verbs } of resources) {
    // `pods/status` and the like are subresources.
    if (!name.includes('/')) kinds.set(kind, { apiVersion, kind, plural: name, namespaced, verbs })
  }
  return kinds
}

function isResource(value: unknown): value is ApiResource {
  const { name, kind } = asRecord(value)
  return typeof name === 'string' && typeof kind === 'string'
}

async function fetchVersions(transport: Transport, group: string, signal?: AbortSignal): Promise<readonly string[]> {
  if (group === '') return ['v1']
  const body = await get(transport, `/apis/${group}`, group, signal)
  const { versions = [], preferredVersion } = (body ?? {}) as {
    readonly versions?: readonly { readonly groupVersion: string }[]
    readonly preferredVersion?: { readonly groupVersion: string }
  }
  const all = versions.map((version) => version.groupVersion)
  return preferredVersion ? [...new Set([preferredVersion.groupVersion, ...all])] : all
}

async function get(transport: Transport, path: string, subject: string, signal?: AbortSignal): Promise<unknown> {
  try {
    return await transport.json({ method: 'GET', path, idempotent: true, signal, verb: 'discover', subject })
  } catch (thrown) {
    if (isApiError(thrown, 'not-served', 'not-found')) return undefined
    throw thrown
  }
}
