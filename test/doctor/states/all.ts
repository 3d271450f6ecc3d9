import type { State } from '../state.ts'
import { clusterStates } from './cluster.ts'
import { controlPlaneStates } from './control-plane.ts'
import { dataPlaneStates } from './data-plane.ts'
import { dnsStates } from './dns.ts'
import { ipamStates } from './ipam.ts'
import { metallbStates } from './metallb.ts'
import { multusStates } from './multus.ts'
import { nmstateStates } from './nmstate.ts'
import { olmStates } from './olm.ts'
import { pendingStates } from './pending.ts'

export const states: readonly State[] = [
  ...clusterStates,
  ...olmStates,
  ...nmstateStates,
  ...metallbStates,
  ...pendingStates,
  ...multusStates,
  ...ipamStates,
  ...dnsStates,
  ...controlPlaneStates,
  ...dataPlaneStates,
]
