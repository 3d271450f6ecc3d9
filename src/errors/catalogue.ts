/**
 * The catalogue: every problem that Stackloom can report, by code. `docs/findings/` is generated from it.
 *
 * One file per area, each with its range: SL1 errors, kube, sandbox; SL2 site, plan; SL3 render; SL4 deploy;
 * SL5 ipam; SL6 dns; SL7 data plane (SL70 configuration snippets); SL8 lab; SL9 verify, doctor.
 */

import * as access from './access.ts'
import * as adopt from './adopt.ts'
import * as capacity from './capacity.ts'
import * as common from './common.ts'
import * as connection from './connection.ts'
import * as dataplane from './dataplane.ts'
import * as deploy from './deploy.ts'
import * as dns from './dns.ts'
import * as doctor from './doctor.ts'
import * as doctorControlPlane from './doctor-control-plane.ts'
import * as doctorDataPlane from './doctor-data-plane.ts'
import * as doctorDns from './doctor-dns.ts'
import * as doctorIpam from './doctor-ipam.ts'
import * as doctorKubernetes from './doctor-kubernetes.ts'
import * as doctorMetallb from './doctor-metallb.ts'
import * as doctorMultus from './doctor-multus.ts'
import * as doctorNmstate from './doctor-nmstate.ts'
import * as doctorOlm from './doctor-olm.ts'
import * as doctorPending from './doctor-pending.ts'
import * as doctorWebhooks from './doctor-webhooks.ts'
import * as down from './down.ts'
import * as file from './file.ts'
import type { ListedProblem } from './finding.ts'
import * as imports from './import.ts'
import * as existing from './import-existing.ts'
import * as installYamls from './import-install-yamls.ts'
import * as ini from './ini.ts'
import * as ipam from './ipam.ts'
import * as kube from './kube.ts'
import * as lab from './lab.ts'
import * as labDoctor from './lab-doctor.ts'
import * as labKolla from './lab-kolla.ts'
import * as labRun from './lab-run.ts'
import * as labTree from './lab-tree.ts'
import * as ledger from './ledger.ts'
import * as lock from './lock.ts'
import * as operator from './operator.ts'
import * as plan from './plan.ts'
import * as preflight from './preflight.ts'
import * as probe from './probe.ts'
import * as render from './render.ts'
import * as room from './room.ts'
import * as runs from './runs.ts'
import * as runtime from './runtime.ts'
import * as sandbox from './sandbox.ts'
import * as segments from './segments.ts'
import * as site from './site.ts'
import * as update from './update.ts'
import * as verify from './verify.ts'
import * as verifyNetworks from './verify-networks.ts'

const areas: readonly object[] = [
  access,
  adopt,
  common,
  segments,
  lock,
  ledger,
  capacity,
  dataplane,
  deploy,
  down,
  preflight,
  dns,
  doctor,
  doctorControlPlane,
  doctorDataPlane,
  doctorDns,
  doctorIpam,
  doctorKubernetes,
  doctorMetallb,
  doctorMultus,
  doctorNmstate,
  doctorOlm,
  doctorPending,
  doctorWebhooks,
  existing,
  imports,
  ini,
  installYamls,
  file,
  ipam,
  connection,
  kube,
  lab,
  labKolla,
  labDoctor,
  labRun,
  labTree,
  operator,
  plan,
  probe,
  render,
  room,
  runs,
  runtime,
  sandbox,
  site,
  update,
  verify,
  verifyNetworks,
]

export const catalogue: ReadonlyMap<string, ListedProblem> = new Map(
  areas
    .flatMap((area): readonly ListedProblem[] => Object.values(area) as readonly ListedProblem[])
    .sort((a, b) => a.code.localeCompare(b.code))
    .map((one) => [one.code, one]),
)
