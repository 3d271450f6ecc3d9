import type { State } from './state.ts'
import { controlPlaneStates } from './states/control-plane-states.ts'
import { dataPlaneStates } from './states/data-plane-states.ts'
import { dnsStates } from './states/dns-states.ts'
import { ipamStates } from './states/ipam-states.ts'
import { kubernetesStates } from './states/kubernetes-states.ts'
import { metallbStates } from './states/metallb-states.ts'
import { multusStates } from './states/multus-states.ts'
import { nmstateStates } from './states/nmstate-states.ts'
import { olmStates } from './states/olm-states.ts'
import { pendingStates } from './states/pending-states.ts'
import { webhookStates } from './states/webhooks-states.ts'

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
