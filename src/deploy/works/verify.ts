/** The last stage: what was planned is what there is, by the checks of `verify`. It changes nothing and never skips. */
import { Failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { Stage } from '../../run/stage.ts'
import { stageChecks } from '../../verify/checks.ts'
import { requiredKinds, verify } from '../../verify/verify.ts'
import type { DeployCloud, World } from '../world.ts'

export function verifyWork(world: World, cloud: DeployCloud): Pick<Stage, 'work'> {
  return {
    work: async (context) => {
      await world.lookout.watch(requiredKinds(stageChecks), context)
      const { plan, documents } = world.site
      const results = verify(stageChecks, {
        plan,
        documents,
        live: world.lookout.index(),
        unread: [],
        now: context.clock.now(),
        clouds: [cloud.name],
      })
      const findings = results.flatMap((result) => result.findings)
      if (hasErrors(findings)) throw new Failure(findings, 1)
      const message = results.map(({ seen }) => seen).join(', ')
      context.emit({ kind: 'progress', message: `as planned: ${message}` })
    },
  }
}
