/** Defines what the server answers with. One backend per source: the console of a terminal has one, the operator one per caller. */
import type { ActionRequest, ActionState } from './documents/actions.ts'
import type { DocumentName } from './routes.ts'
import type { StreamHub } from './server/stream-hub.ts'

/** A document, or undefined if there is no such thing. */
export type Answer = object | undefined

export interface ConsoleBackend {
  readonly hub: Pick<StreamHub, 'open' | 'version'>
  readonly document: (name: DocumentName) => Promise<Answer>
  readonly network: (cloud: string, network: string) => Promise<Answer>
  readonly topologyItem: (item: string) => Promise<Answer>
  readonly run: (run: string) => Promise<Answer>
  readonly stage: (run: string, stage: string) => Promise<Answer>
  readonly runEvents: (run: string, from: number) => Promise<Answer>
  readonly deployment: (namespace: string, deployment: string) => Promise<Answer>
  readonly search: (query: string) => Promise<Answer>
  readonly actions: () => readonly ActionState[]
  /** Undefined where actions are off. */
  readonly startAction: ((action: string, request: ActionRequest) => Promise<ActionState | undefined>) | undefined
}
