/** Names differences between a rendered object and what the operators' admission makes of it that change nothing. */

/** The label that openstack-operator sets on every data plane service, and `false` that Go leaves out. */
export const isHarmless = (problem: string): boolean =>
  /^OpenStackDataPlaneService .*\/part-of: "openstack-operator"/.test(problem) ||
  problem.endsWith(': undefined instead of false')
