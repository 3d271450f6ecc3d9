/** Where one network has its place on the nodes. */

export interface Placement {
  /** Absent when the network rides on another's bridge. */
  readonly segment: string | undefined
  readonly nic: string
  readonly vlan: number | undefined
  /** The VLAN's interface, or the NIC. */
  readonly carrier: string
  readonly bridge: string | undefined
  readonly mtu: number
}

/** What a NIC carries when nobody says otherwise. */
export const STANDARD_MTU = 1500
