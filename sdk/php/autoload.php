<?php

declare(strict_types=1);

// For programs without Composer.
foreach (['Errors', 'Answer', 'Transport', 'Contract', 'Webhooks', 'Client'] as $file) {
    require_once __DIR__ . "/src/$file.php";
}
