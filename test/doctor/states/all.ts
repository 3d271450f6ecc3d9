import type { State } from '../state.ts'
import { metallbStates } from './metallb.ts'
import { pendingStates } from './pending.ts'

export const states: readonly State[] = [...metallbStates, ...pendingStates]
