import type { State } from '../state.ts'
import { controlPlaneStates } from './control-plane.ts'
import { dataPlaneStates } from './data-plane.ts'
import { dnsStates } from './dns.ts'
import { ipamStates } from './ipam.ts'
import { kubernetesStates } from './kubernetes.ts'
import { metallbStates } from './metallb.ts'
import { multusStates } from './multus.ts'
import { nmstateStates } from './nmstate.ts'
import { olmStates } from './olm.ts'
import { pendingStates } from './pending.ts'
import { webhookStates } from './webhooks.ts'

export const states: readonly State[] = [
  ...kubernetesStates,
  ...olmStates,
  ...webhookStates,
  ...nmstateStates,
  ...metallbStates,
  ...pendingStates,
  ...multusStates,
  ...ipamStates,
  ...dnsStates,
  ...controlPlaneStates,
  ...dataPlaneStates,
]
