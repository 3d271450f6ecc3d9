/**
 * The catalogue: every problem that Stackloom can report, by code. `docs/findings/` is generated from it.
 *
 * One file per area, each with its range: SL1 errors, kube, sandbox; SL2 site, plan; SL3 render; SL4 deploy;
 * SL5 ipam; SL6 dns; SL7 data plane (SL70 configuration snippets); SL8 lab; SL9 verify, doctor.
 */

import * as dns from '../../controllers/dns/findings.ts'
import * as ipam from '../../controllers/ipam/findings.ts'
import * as dataplane from '../../dataplane/findings/data-plane.ts'
import * as runs from '../../dataplane/findings/runs.ts'
import * as access from '../../deploy/findings/access.ts'
import * as adopt from '../../deploy/findings/adopt.ts'
import * as down from '../../deploy/findings/down.ts'
import * as up from '../../deploy/findings/up.ts'
import * as update from '../../deploy/findings/update.ts'
import * as doctorControlPlane from '../../doctor/findings/control-plane-findings.ts'
import * as doctorDataPlane from '../../doctor/findings/data-plane-findings.ts'
import * as doctor from '../../doctor/findings/diagnose-findings.ts'
import * as doctorDns from '../../doctor/findings/dns-findings.ts'
import * as doctorIpam from '../../doctor/findings/ipam-findings.ts'
import * as doctorKubernetes from '../../doctor/findings/kubernetes-findings.ts'
import * as doctorMetallb from '../../doctor/findings/metallb-findings.ts'
import * as doctorMultus from '../../doctor/findings/multus-findings.ts'
import * as doctorNmstate from '../../doctor/findings/nmstate-findings.ts'
import * as doctorOlm from '../../doctor/findings/olm-findings.ts'
import * as doctorPending from '../../doctor/findings/pending-findings.ts'
import * as doctorWebhooks from '../../doctor/findings/webhooks-findings.ts'
import * as common from '../../errors/common.ts'
import * as file from '../../errors/file.ts'
import type { ListedProblem } from '../../errors/finding.ts'
import * as imports from '../../errors/new-file.ts'
import * as ini from '../../ini/findings.ts'
import * as kube from '../../kube/findings/api-server.ts'
import * as connection from '../../kube/findings/connection.ts'
import * as runtime from '../../kube/findings/runtime.ts'
import * as labKolla from '../../lab/findings/kolla.ts'
import * as labDoctor from '../../lab/findings/lab-doctor.ts'
import * as lab from '../../lab/findings/lab-file.ts'
import * as labRun from '../../lab/findings/lab-run.ts'
import * as labTree from '../../lab/findings/rendered-tree.ts'
import * as operator from '../../operator/findings.ts'
import * as ledger from '../../plan/findings/addresses.ts'
import * as capacity from '../../plan/findings/capacity.ts'
import * as lock from '../../plan/findings/lock.ts'
import * as segments from '../../plan/findings/segments.ts'
import * as plan from '../../plan/findings/site.ts'
import * as render from '../../plan/slots/findings.ts'
import * as documents from '../../render/findings.ts'
import * as deploy from '../../run/findings.ts'
import * as sandbox from '../../sandbox/findings.ts'
import * as site from '../../site/findings.ts'
import * as existing from '../../site/import/findings/existing.ts'
import * as installYamls from '../../site/import/findings/install-yamls.ts'
import * as room from '../../verify/findings/capacity-findings.ts'
import * as verify from '../../verify/findings/check-findings.ts'
import * as verifyNetworks from '../../verify/findings/network-findings.ts'
import * as probe from '../../verify/findings/probe-findings.ts'

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
  up,
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
  documents,
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
    .map((listedProblem) => [listedProblem.code, listedProblem]),
)
