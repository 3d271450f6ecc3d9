/**
 * Lists all objects of a kind page by page, at one consistent version.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { isApiError, malformedResponse } from './api-error.ts'
import type { ListOptions, ObjectList } from './client.ts'
import { formatSubject } from './paths.ts'
import type { ApiRequest } from './round-trip.ts'

const PAGE = 500
/** How often a list that expires between two pages is restarted before it is requested in one piece. */
const RESTARTS = 2

export interface ListRequest {
  readonly kind: GroupVersionKind
  readonly path: string
  readonly options: ListOptions
  readonly server: string
}

type Send = (call: ApiRequest) => Promise<unknown>

export async function listAll(send: Send, request: ListRequest): Promise<ObjectList> {
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
  const { labelSelector, fieldSelector, signal } = options
  const names = { verb: 'list', subject: formatSubject(kind) }
  const query = { limit, continue: token, labelSelector, fieldSelector }
  const response = await send({ method: 'GET', path, query, idempotent: true, signal, ...names })
  const { items, metadata } = (response ?? {}) as {
    readonly items?: readonly Omit<KubeObject, 'apiVersion' | 'kind'>[] | null
    readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  }
  if (items === undefined || !metadata) throw malformedResponse('the response is not a list', { server, ...names })
  return {
    // Items of built-in kinds come without their kind.
    items: (items ?? []).map((item) => ({ ...kindOf(kind), ...item }) as KubeObject),
    resourceVersion: metadata.resourceVersion ?? '',
    next: metadata.continue || undefined,
  }
}

function kindOf({ apiVersion, kind }: GroupVersionKind): GroupVersionKind {
  return { apiVersion, kind }
}
