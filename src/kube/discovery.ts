/**
 * Which kinds the server has, and where: asked once per group and version, when somebody needs it.
 *
 * What was found is kept. What was not found is asked again each time, because CRDs arrive while we run.
 */
import type { GroupVersionKind } from '../api/object.ts'
import { isApiError, malformedResponse } from './api-error.ts'
import type { Resource } from './client.ts'
import { groupPath } from './paths.ts'
import { abortable } from './signals.ts'
import type { Transport } from './transport.ts'

export interface Discovery {
  readonly resource: (kind: GroupVersionKind, signal?: AbortSignal) => Promise<Resource | undefined>
  /** The versions in which a group is served, the preferred one first. */
  readonly versions: (group: string, signal?: AbortSignal) => Promise<readonly string[]>
  /** The server denied what was found earlier: ask anew next time. */
  readonly invalidate: (apiVersion: string) => void
}

type Kinds = ReadonlyMap<string, Resource>

export function createDiscovery(transport: Transport): Discovery {
  const known = new Map<string, Kinds>()
  const asked = new Map<string, Promise<Kinds>>()

  // Many callers share one question, so none of them may take it back: whoever gives up just stops listening.
  const ask = (apiVersion: string): Promise<Kinds> => {
    const running = asked.get(apiVersion)
    if (running) return running
    const answer = askKinds(transport, apiVersion)
      .then((kinds) => {
        if (kinds.size > 0) known.set(apiVersion, kinds)
        return kinds
      })
      .finally(() => asked.delete(apiVersion))
    asked.set(apiVersion, answer)
    return answer
  }

  return {
    resource: async ({ apiVersion, kind }, signal) =>
      known.get(apiVersion)?.get(kind) ?? (await abortable(ask(apiVersion), signal)).get(kind),
    versions: (group, signal) => askVersions(transport, group, signal),
    invalidate: (apiVersion) => void known.delete(apiVersion),
  }
}

interface ApiResource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

async function askKinds(transport: Transport, apiVersion: string): Promise<Kinds> {
  const body = await ask(transport, groupPath(apiVersion), apiVersion)
  if (body === undefined) return new Map()
  const { resources } = body as { readonly resources?: readonly ApiResource[] }
  if (!Array.isArray(resources)) {
    const errand = { server: transport.server, verb: 'discover', subject: apiVersion }
    throw malformedResponse(`no list of resources for ${apiVersion}`, errand)
  }
  const found = new Map<string, Resource>()
  for (const { name, kind, namespaced, verbs } of resources as readonly ApiResource[]) {
    // `pods/status` and the like are parts of a resource; what cannot be read as an object is no kind of ours.
    if (!name.includes('/')) found.set(kind, { apiVersion, kind, plural: name, namespaced, verbs })
  }
  return found
}

async function askVersions(transport: Transport, group: string, signal?: AbortSignal): Promise<readonly string[]> {
  if (group === '') return ['v1']
  const body = await ask(transport, `/apis/${group}`, group, signal)
  const { versions = [], preferredVersion } = (body ?? {}) as {
    readonly versions?: readonly { readonly groupVersion: string }[]
    readonly preferredVersion?: { readonly groupVersion: string }
  }
  const all = versions.map((version) => version.groupVersion)
  return preferredVersion ? [...new Set([preferredVersion.groupVersion, ...all])] : all
}

async function ask(transport: Transport, path: string, subject: string, signal?: AbortSignal): Promise<unknown> {
  try {
    return await transport.json({ method: 'GET', path, safe: true, signal, verb: 'discover', subject })
  } catch (thrown) {
    if (isApiError(thrown, 'not-served', 'not-found')) return undefined
    throw thrown
  }
}
