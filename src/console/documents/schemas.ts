/** Maps every route with a JSON answer to the schema of its document. */
import type * as z from 'zod'
import type { RouteName } from '../routes.ts'
import { actionState, actionsDocument } from './actions.ts'
import { addressesDocument, networkDocument } from './addresses.ts'
import { findingsDocument } from './findings.ts'
import { deploymentDocument, hostsDocument } from './hosts.ts'
import { labDocument } from './lab.ts'
import { metaDocument } from './meta.ts'
import { overviewDocument } from './overview.ts'
import { runDocument, runEventsDocument, runsDocument, stageDocument } from './runs.ts'
import { searchDocument } from './search.ts'
import { topologyDocument, topologyItemDocument } from './topology.ts'

export const schemas: Readonly<Record<Exclude<RouteName, 'stream'>, z.ZodType>> = {
  meta: metaDocument,
  overview: overviewDocument,
  addresses: addressesDocument,
  network: networkDocument,
  topology: topologyDocument,
  topologyItem: topologyItemDocument,
  runs: runsDocument,
  run: runDocument,
  runEvents: runEventsDocument,
  stage: stageDocument,
  hosts: hostsDocument,
  deployment: deploymentDocument,
  findings: findingsDocument,
  lab: labDocument,
  search: searchDocument,
  actions: actionsDocument,
  action: actionState,
}
