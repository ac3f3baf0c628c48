<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Command;

use ReconBatch\Messenger\Export\RegisterExport;
use ReconBatch\Messenger\Instant;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class ExportCommand extends Command
{
    public function __construct(private readonly RegisterExport $export)
    {
        parent::__construct('recon:export');
    }

    protected function configure(): void
    {
        $this->setDescription('Writes the operations that were created in a time as CSV for recon-batch');
        $this->addArgument('file', InputArgument::REQUIRED, 'File to write; it appears whole or not at all')
            ->addOption('from', null, InputOption::VALUE_REQUIRED, 'First instant, included, such as 2026-11-29T00:00:00+01:00')
            ->addOption('until', null, InputOption::VALUE_REQUIRED, 'First instant after it');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        if (null === $input->getOption('from') || null === $input->getOption('until')) {
            $output->writeln('<error>--from and --until are needed: they must be those of the coverage in the job file.</error>');

            return Command::INVALID;
        }
        $count = $this->export->write($input->getArgument('file'), Instant::parse($input->getOption('from')), Instant::parse($input->getOption('until')));
        $output->writeln(sprintf('%d operations written to %s', $count, $input->getArgument('file')));

        return Command::SUCCESS;
    }
}
