/**
 * Keeps the documents of the server current: loads one when a view first needs it, then applies the stream's patches.
 *
 * Decides nothing about clouds; it only knows how documents arrive.
 */
import { type Signal, signal } from '@preact/signals'
import type { ActionState, ErrorDocument } from '../../src/console/documents/actions.ts'
import type { AddressesDocument } from '../../src/console/documents/addresses.ts'
import type { FindingsDocument } from '../../src/console/documents/findings.ts'
import type { HostsDocument } from '../../src/console/documents/hosts.ts'
import type { LabDocument } from '../../src/console/documents/lab.ts'
import type { MetaDocument } from '../../src/console/documents/meta.ts'
import type { OverviewDocument } from '../../src/console/documents/overview.ts'
import type { RunsDocument } from '../../src/console/documents/runs.ts'
import type { PatchEvent, StreamEvent } from '../../src/console/documents/stream.ts'
import type { TopologyDocument } from '../../src/console/documents/topology.ts'
import { type DocumentName, fillRoute, routes } from '../../src/console/routes.ts'
import { route } from './location.ts'
import { applyPatch } from './patch.ts'

export interface Documents {
  readonly meta: MetaDocument
  readonly overview: OverviewDocument
  readonly addresses: AddressesDocument
  readonly topology: TopologyDocument
  readonly runs: RunsDocument
  readonly hosts: HostsDocument
  readonly findings: FindingsDocument
  readonly lab: LabDocument
}

export interface Problem {
  readonly code: string
  readonly message: string
  readonly remedy: string
}

export interface Loaded<T> {
  readonly value?: T
  readonly problem?: Problem
}

interface Slot {
  readonly state: Signal<Loaded<Documents[DocumentName]>>
  /** Resolves after the first answer. */
  loaded: Promise<void>
  /** Patches that arrive while the document is being loaded. */
  waiting?: PatchEvent[]
  /** Set where the document changed while it was being loaded. */
  isOld?: boolean
}

const slots = new Map<DocumentName, Slot>()
/** The stream has every patch after this version. */
let streamFrom = 0

/** Whether the server answers: `ended` needs a new link, because its token is used up or belongs to another server. */
export const link = signal<'open' | 'connecting' | 'ended'>('connecting')
/** Started actions by id, with their output. */
export const actions = signal<ReadonlyMap<string, ActionState>>(new Map())

type Listener = (event: StreamEvent) => void
const listeners = new Set<Listener>()

/** Calls back for every event of the stream until the returned function is called. */
export function listenToStream(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The document as it is now; the first call loads it. */
export function useDocument<Name extends DocumentName>(name: Name): Loaded<Documents[Name]> {
  return openSlot(name).state.value as Loaded<Documents[Name]>
}

/** Loads documents before a view asks for them; resolves when they are there. */
export async function loadDocuments(names: readonly DocumentName[]): Promise<void> {
  await Promise.all(names.map((name) => openSlot(name).loaded))
}

function openSlot(name: DocumentName): Slot {
  const known = slots.get(name)
  if (known) return known
  const slot: Slot = { state: signal({}), loaded: Promise.resolve() }
  slots.set(name, slot)
  slot.loaded = loadDocument(name, slot)
  return slot
}

async function loadDocument(name: DocumentName, slot: Slot): Promise<void> {
  if (slot.waiting) {
    slot.isOld = true
    return
  }
  const waiting: PatchEvent[] = []
  slot.waiting = waiting
  const loaded = await fetchJson<Documents[DocumentName]>(fillRoute(name))
  delete slot.waiting
  // A document that was shown before stays on the screen while the server cannot be asked.
  const before = slot.state.value.value
  slot.state.value = loaded.value ? loaded : { ...(before && { value: before }), ...loaded }
  // Asked before patches are applied, because a later patch would hide the missing ones. A refusal is not repeated at once.
  const isOutdated = loaded.value !== undefined && missesPatches(slot)
  for (const patch of waiting) patchSlot(slot, patch)
  if (!slot.isOld && !isOutdated) return
  delete slot.isOld
  await loadDocument(name, slot)
}

/** The browser loads the first documents before the script opens the stream: what changes in between is in neither. */
function missesPatches({ state }: Slot): boolean {
  const { value } = state.value
  return value !== undefined && value.version < streamFrom
}

function patchSlot(slot: Slot, patch: PatchEvent): void {
  if (slot.waiting) {
    slot.waiting.push(patch)
    return
  }
  const { value } = slot.state.value
  if (value && patch.version > value.version) slot.state.value = { value: applyPatch(value, patch) }
}

export async function fetchJson<T>(url: string, init?: RequestInit): Promise<Loaded<T>> {
  try {
    const response = await fetch(url, init)
    const body = (await response.json()) as unknown
    if (response.ok) return { value: body as T }
    if (response.status === 401) link.value = 'ended'
    return { problem: (body as ErrorDocument).error }
  } catch (error) {
    return {
      problem: {
        code: '',
        message: `the console does not answer: ${error instanceof Error ? error.message : String(error)}`,
        remedy: 'check that stackloom console still runs',
      },
    }
  }
}

/** Opens the stream. The browser reconnects and sends `Last-Event-ID`. */
export function openStream(): void {
  const source = new EventSource(routes.stream)
  let server: string | undefined
  const handle = (message: MessageEvent<string>): void => {
    const event = JSON.parse(message.data) as StreamEvent
    if (event.kind === 'hello') {
      link.value = 'open'
      if (server !== undefined && server !== event.server) {
        streamFrom = 0
        reloadAll()
      } else {
        if (server === undefined) streamFrom = event.version
        for (const [name, slot] of slots) if (!slot.waiting && missesPatches(slot)) void loadDocument(name, slot)
      }
      server = event.server
    }
    handleEvent(event)
    for (const listener of listeners) listener(event)
  }
  for (const kind of ['hello', 'reset', 'patch', 'changed', 'run', 'action', 'connection'] as const) {
    source.addEventListener(kind, handle)
  }
  source.addEventListener('error', () => {
    link.value = source.readyState === EventSource.CLOSED ? 'ended' : 'connecting'
  })
}

function handleEvent(event: StreamEvent): void {
  if (event.kind === 'reset') reloadAll()
  else if (event.kind === 'patch') {
    const slot = slots.get(event.document)
    if (slot) patchSlot(slot, event)
  } else if (event.kind === 'connection') {
    const slot = slots.get('meta')
    if (slot) {
      const { version, connection } = event
      patchSlot(slot, { kind: 'patch', document: 'meta', version, fields: { connection } })
    }
  } else if (event.kind === 'action') recordAction(event.action)
  else if (event.kind === 'changed' && (event.route === 'addresses' || event.route === 'topology')) refresh(event.route)
}

/** A document that is not shown is loaded when it is shown again. */
function refresh(name: 'addresses' | 'topology'): void {
  const slot = slots.get(name)
  if (!slot) return
  if (route.value.view === name) void loadDocument(name, slot)
  else slots.delete(name)
}

export function recordAction(action: ActionState): void {
  actions.value = new Map(actions.value).set(action.id, action)
}

function reloadAll(): void {
  for (const [name, slot] of slots) void loadDocument(name, slot)
}
