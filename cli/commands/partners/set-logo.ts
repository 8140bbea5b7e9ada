import { readFile } from 'node:fs/promises';
import * as Flags from '@oclif/core/flags';
import { largestLogoFile } from '../../../contracts/admin/partners.ts';
import { usageError } from '../../errors/failure.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class PartnersSetLogo extends AdminCommand<typeof PartnersSetLogo> {
  static override summary = 'Show a logo of the partner on the hosted pages.';
  static override description =
    'Takes a PNG or JPEG file of at most 256 KiB and 1,048,576 pixels. The server makes a small PNG of the pixels, and keeps nothing else of the file.';
  static override examples = ['<%= config.bin %> partners set-logo ptr_… --file logo.png'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    file: Flags.string({ description: 'PNG or JPEG file', helpValue: 'logo.png', required: true }),
  };

  async run() {
    const { file } = this.flags;
    const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
      throw usageError(`${file} cannot be read (${error.code ?? error.message})`);
    });
    if (content.length > largestLogoFile) throw usageError(`${file} has more than 256 KiB`);
    const image = content.toString('base64');
    return this.showRecord(await this.api.partners.setLogo.mutate({ partnerId: this.args.partner, image }));
  }
}
