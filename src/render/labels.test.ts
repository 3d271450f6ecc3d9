import { describe, expect, it } from 'vitest'
import { setOperatorLabels } from '../../test/operator-labels.ts'
import { testPlan } from '../../test/plan.ts'
import { findSite } from '../api/ownership.ts'
import { renderDocuments } from './render.ts'

describe('the labels of a data plane service', () => {
  const hosts = [{ name: 'compute-0', cell: 'cell2' }]
  const services = { nova: { cells: ['cell1', 'cell2'] } }
  const plan = testPlan({ clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts, services }] })
  const rendered = renderDocuments(plan)
    .map(({ object }) => object)
    .filter(({ kind }) => kind === 'OpenStackDataPlaneService')

  it('name the site after the operator has set its own', () => {
    expect(rendered.map((object) => findSite(setOperatorLabels(object)))).toEqual(['lab'])
  })

  it('do not differ from those that the operator sets', () => {
    expect(rendered.map(setOperatorLabels)).toMatchObject(rendered)
  })
})
