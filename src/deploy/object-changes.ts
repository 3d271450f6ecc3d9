/**
 * What an apply would change: desired objects beside live ones, as a value that is printed before anything is done.
 *
 * An object is unchanged only when it holds every desired field and we are the one who applied them: a hash alone
 * would not see a pool that a hand has edited. Pure.
 */
import type { KubeObject } from '../api/object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import type { Risk } from '../plan/changes.ts'
import {
  type FieldDifference,
  type ForeignField,
  fieldDifferences,
  foreignFields,
} from '../verify/field-differences.ts'

/** The manager of every field that the site's objects have from us. */
export const FIELD_MANAGER = 'stackloom'

export interface ObjectChange {
  readonly change: 'create' | 'update' | 'take over' | 'unchanged'
  readonly desired: KubeObject
  readonly live?: KubeObject
  readonly fields: readonly FieldDifference[]
  /** Right values that somebody else has set. */
  readonly foreign: readonly ForeignField[]
  readonly risk: Risk
}

export function compareObject(desired: KubeObject, live: KubeObject | undefined): ObjectChange {
  if (!live) return { change: 'create', desired, fields: [], foreign: [], risk: riskOfCreate(desired) }
  const fields = fieldDifferences(desired, live)
  const foreign = foreignFields(desired, live, FIELD_MANAGER)
  const change = fields.length > 0 ? 'update' : foreign.length > 0 ? 'take over' : 'unchanged'
  const risk = change === 'update' ? riskOfUpdate(desired, fields) : 'safe'
  return { change, desired, live, fields, foreign, risk }
}

/** New interfaces on nodes are a risk even when the object is new. */
function riskOfCreate(desired: KubeObject): Risk {
  return isNodeNetworking(desired) ? 'touches node networking' : 'safe'
}

function riskOfUpdate(desired: KubeObject, fields: readonly FieldDifference[]): Risk {
  const paths = fields.map(({ path }) => path).filter((path) => !path.startsWith('metadata.'))
  if (paths.length === 0) return 'safe'
  if (isNodeNetworking(desired)) return 'touches node networking'
  switch (formatGroupKind(desired)) {
    case 'metallb.io/IPAddressPool':
    case 'metallb.io/L2Advertisement':
    case 'metallb.io/BGPAdvertisement':
      return 'changes a VIP'
    // whereabouts counts addresses by range: another range begins with an empty book beside running pods.
    case 'k8s.cni.cncf.io/NetworkAttachmentDefinition':
    case 'network.openstack.org/NetConfig':
    case 'dataplane.openstack.org/OpenStackDataPlaneDeployment':
      return 'needs recreation'
    case 'core.openstack.org/OpenStackControlPlane':
      return fields.some(concernsVips) ? 'changes a VIP' : 'restarts pods'
    default:
      return 'safe'
  }
}

/** By its path, or by what is below it where a whole part is missing. */
function concernsVips({ path, desired }: FieldDifference): boolean {
  return /loadBalancerIPs|address-pool|allow-shared-ip|override\.service/.test(`${path} ${JSON.stringify(desired)}`)
}

function isNodeNetworking(object: KubeObject): boolean {
  return formatGroupKind(object) === 'nmstate.io/NodeNetworkConfigurationPolicy'
}
