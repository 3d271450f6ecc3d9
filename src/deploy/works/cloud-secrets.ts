/** The stage that makes a cloud's Secrets. */
import { ensureSecrets, missingSecrets } from '../secrets.ts'
import type { StageWork } from '../stages/apply-and-wait.ts'
import type { DeployCloud, World } from '../world.ts'

export function secretsWork(world: World, { secrets }: DeployCloud): StageWork {
  return {
    check: async () => {
      const missing = await missingSecrets(world.client, secrets)
      return missing.length === 0
        ? { kind: 'satisfied', reason: 'every password and key is there' }
        : { kind: 'needed', reason: `${missing.length} are missing` }
    },
    work: (context) => ensureSecrets(world.client, secrets, world.site.name, context, world.patience),
  }
}
