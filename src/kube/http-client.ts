/**
 * Implements the verbs of `client.ts` with HTTP requests (a list: one per page). Objects are plain JSON.
 *
 * All writes use strict field validation: an unknown field is rejected, never dropped.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import type { ObjectLocation } from '../errors/finding.ts'
import { isApiError, malformedResponse, missingNamespaceError, notServedError } from './api-error.ts'
import type {
  ApplyOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  ObjectList,
  ObjectRef,
  PatchOptions,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts'
import { createDiscovery } from './discovery.ts'
import { collectionPath, formatSubject, objectPath, writtenPath } from './paths.ts'
import type { ApiRequest, Query } from './round-trip.ts'
import type { Transport } from './transport.ts'
import { watchEvents } from './watch-stream.ts'

const DEFAULT_IDLE_MS = 120_000

export function createKubeClient(transport: Transport): KubeClient {
  const { server } = transport
  const discovery = createDiscovery(transport)

  const findServed = async (kind: GroupVersionKind, verb: string, signal?: AbortSignal): Promise<Resource> => {
    const resource = await discovery.resource(kind, signal)
    if (!resource) throw notServedError({ server, verb, subject: formatSubject(kind) })
    return resource
  }

  /** The resource of a write; fails early when the namespace is missing. */
  const findWritable = async (ref: ObjectRef, verb: string, signal?: AbortSignal): Promise<Resource> => {
    const resource = await findServed(ref, verb, signal)
    if (resource.namespaced && !ref.namespace) throw missingNamespaceError(toLocation(ref), formatSubject(ref, ref))
    return resource
  }

  const send = async (call: ApiRequest, kind: GroupVersionKind): Promise<unknown> => {
    try {
      return await transport.json(call)
    } catch (thrown) {
      // The kind was served before: its CRD was deleted or changed.
      if (isApiError(thrown, 'not-served')) discovery.invalidate(kind.apiVersion)
      throw thrown
    }
  }

  const write = async (
    call: Omit<ApiRequest, 'subject'>,
    ref: ObjectRef,
    options: WriteOptions & { readonly extra?: Query },
  ): Promise<KubeObject> => {
    const subject = formatSubject(ref, ref)
    const query = { ...writeQuery(options), ...options.extra }
    const { signal, priority, guard } = options
    const response = await send({ ...call, query, subject, object: toLocation(ref), signal, priority, guard }, ref)
    return parseObject(response, { server, verb: call.verb, subject })
  }

  return {
    resource: (kind) => discovery.resource(kind),
    versions: (group) => discovery.versions(group),

    get: async (ref, { signal, priority } = {}) => {
      const resource = await discovery.resource(ref, signal)
      if (!resource) return undefined
      const subject = formatSubject(ref, ref)
      try {
        const path = objectPath(resource, ref)
        const names = { verb: 'get', subject, object: toLocation(ref) }
        const response = await send({ method: 'GET', path, idempotent: true, signal, priority, ...names }, ref)
        return parseObject(response, { server, verb: 'get', subject })
      } catch (thrown) {
        if (isApiError(thrown, 'not-found', 'not-served')) return undefined
        throw thrown
      }
    },

    list: async (kind, options = {}) => {
      const path = collectionPath(await findServed(kind, 'list', options.signal), options.namespace)
      return listAll((call) => send(call, kind), { kind, path, options, server })
    },

    watch: async function* (kind: GroupVersionKind, options: WatchOptions) {
      const { signal } = options
      try {
        const resource = await findServed(kind, 'watch', signal)
        const request = { server, verb: 'watch', subject: formatSubject(kind) }
        const { metadataOnly = false } = options
        const chunks = await transport.stream({
          ...request,
          method: 'GET',
          path: collectionPath(resource, options.namespace),
          query: watchQuery(options),
          idempotent: true,
          ...(metadataOnly && { accept: METADATA_ONLY }),
          signal,
          idleMs: options.idleMs ?? DEFAULT_IDLE_MS,
        })
        const events = watchEvents(chunks, request)
        if (metadataOnly) yield* withKind(kind, events)
        else yield* events
      } catch (thrown) {
        if (signal?.aborted) return
        if (isApiError(thrown, 'not-served')) discovery.invalidate(kind.apiVersion)
        throw thrown
      }
    },

    create: async (object, options = {}) => {
      const resource = await findWritable(toRef(object), 'create', options.signal)
      const path = collectionPath(resource, object.metadata.namespace)
      return write({ method: 'POST', path, body: object, idempotent: false, verb: 'create' }, toRef(object), options)
    },

    update: async (object, options = {}) => {
      const resource = await findWritable(toRef(object), 'update', options.signal)
      const path = writtenPath(resource, object, options.subresource)
      return write({ method: 'PUT', path, body: object, idempotent: true, verb: 'update' }, toRef(object), options)
    },

    apply: async (object, options: ApplyOptions) => {
      const resource = await findWritable(toRef(object), 'apply', options.signal)
      const path = writtenPath(resource, object, options.subresource)
      const contentType = 'application/apply-patch+yaml'
      const call = { method: 'PATCH', path, body: object, contentType, idempotent: true, verb: 'apply' } as const
      return write(call, toRef(object), { ...options, extra: { force: options.force ? true : undefined } })
    },

    patch: async (ref, patch, options: PatchOptions) => {
      const resource = await findWritable(ref, 'patch', options.signal)
      const path = objectPath(resource, ref, options.subresource)
      const contentType = `application/${options.type === 'json' ? 'json-patch' : 'merge-patch'}+json`
      // A JSON patch may append to a list, so it is not idempotent.
      const idempotent = options.type === 'merge'
      return write({ method: 'PATCH', path, body: patch, contentType, idempotent, verb: 'patch' }, ref, options)
    },

    delete: async (ref, options: DeleteOptions = {}) => {
      const resource = await discovery.resource(ref, options.signal)
      if (!resource) return false
      try {
        await send(
          {
            method: 'DELETE',
            path: objectPath(resource, ref),
            body: deleteBody(options),
            idempotent: true,
            signal: options.signal,
            guard: options.guard,
            verb: 'delete',
            subject: formatSubject(ref, ref),
            object: toLocation(ref),
          },
          ref,
        )
        return true
      } catch (thrown) {
        if (isApiError(thrown, 'not-found', 'not-served')) return false
        throw thrown
      }
    },
  }
}

const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const METADATA_LIST_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

/** Metadata alone comes with a kind of its own. */
async function* withKind(kind: GroupVersionKind, events: AsyncIterable<WatchEvent>): AsyncIterable<WatchEvent> {
  for await (const event of events) {
    yield event.kind === 'bookmark' ? event : { ...event, object: { ...event.object, ...kindOf(kind) } }
  }
}

function writeQuery({ fieldManager, dryRun }: WriteOptions): Query {
  return { fieldManager, fieldValidation: 'Strict', dryRun: dryRun ? 'All' : undefined }
}

function watchQuery(options: WatchOptions): Query {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options
  return {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    timeoutSeconds,
    labelSelector,
    fieldSelector,
  }
}

function deleteBody({ propagation, preconditions, dryRun }: DeleteOptions): unknown {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(propagation && { propagationPolicy: propagation }),
    ...(preconditions && { preconditions }),
    ...(dryRun && { dryRun: ['All'] }),
  }
}

function toRef({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { name, namespace, generateName } = metadata
  return { apiVersion, kind, name: name ?? generateName ?? '', ...(namespace !== undefined && { namespace }) }
}

function toLocation({ apiVersion, kind, namespace, name }: ObjectRef): ObjectLocation {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

function parseObject(
  response: unknown,
  request: { readonly server: string; readonly verb: string; readonly subject: string },
): KubeObject {
  const object = response as Partial<KubeObject> | null
  if (!object?.kind || !object.metadata) throw malformedResponse('the response is not an object', request)
  return object as KubeObject
}

const PAGE = 500
/** How often a list that expires between two pages is restarted before it is requested in one piece. */
const RESTARTS = 2

interface ListRequest {
  readonly kind: GroupVersionKind
  readonly path: string
  readonly options: ListOptions
  readonly server: string
}

type Send = (call: ApiRequest) => Promise<unknown>

async function listAll(send: Send, request: ListRequest): Promise<ObjectList> {
  for (let restarts = 0; restarts < RESTARTS; restarts += 1) {
    try {
      return await listPages(send, request, request.options.limit ?? PAGE)
    } catch (thrown) {
      if (!isApiError(thrown, 'expired')) throw thrown
    }
  }
  return listPages(send, request, undefined)
}

async function listPages(send: Send, request: ListRequest, limit: number | undefined): Promise<ObjectList> {
  const { transform = (item: KubeObject): KubeObject => item } = request.options
  const items: KubeObject[] = []
  let token: string | undefined
  for (;;) {
    const page = await listPage(send, request, limit, token)
    for (const item of page.items) items.push(transform(item))
    token = page.next
    if (!token) return { items, resourceVersion: page.resourceVersion }
  }
}

interface Page extends ObjectList {
  readonly next: string | undefined
}

async function listPage(
  send: Send,
  { kind, path, options, server }: ListRequest,
  limit: number | undefined,
  token: string | undefined,
): Promise<Page> {
  const { labelSelector, fieldSelector, metadataOnly = false, signal } = options
  const names = { verb: 'list', subject: formatSubject(kind) }
  const query = { limit, continue: token, labelSelector, fieldSelector }
  const accept = metadataOnly ? { accept: METADATA_LIST_ONLY } : {}
  const response = await send({ method: 'GET', path, query, idempotent: true, signal, ...accept, ...names })
  const { items, metadata } = (response ?? {}) as {
    readonly items?: readonly Omit<KubeObject, 'apiVersion' | 'kind'>[] | null
    readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  }
  if (items === undefined || !metadata) throw malformedResponse('the response is not a list', { server, ...names })
  return {
    // Items of built-in kinds come without their kind, metadata alone with another one.
    items: (items ?? []).map(
      (item) => ({ ...kindOf(kind), ...item, ...(metadataOnly && kindOf(kind)) }) as unknown as KubeObject,
    ),
    resourceVersion: metadata.resourceVersion ?? '',
    next: metadata.continue || undefined,
  }
}

function kindOf({ apiVersion, kind }: GroupVersionKind): GroupVersionKind {
  return { apiVersion, kind }
}
