<?xml version="1.0" encoding="UTF-8"?>
<!-- page.xsl - what all pages share: head, navigation, foot.  A page imports
     this file and defines the templates "title" and "content"; "head" may add
     lines to the head. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="html" encoding="UTF-8" indent="no"
    doctype-system="about:legacy-compat"/>
<xsl:param name="project_name"/>
<xsl:param name="master_url"/>

<xsl:template match="/">
<html lang="en">
<head>
<xsl:call-template name="head"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>
<xsl:call-template name="title"/>
<xsl:text> - </xsl:text>
<xsl:value-of select="$project_name"/>
</title>
<link rel="stylesheet" href="{$master_url}static/style.css"/>
</head>
<body>
<header>
<a class="name" href="{$master_url}"><xsl:value-of select="$project_name"/></a>
<nav>
<a href="{$master_url}">Home</a>
<xsl:text> </xsl:text>
<a href="{$master_url}server_status.php">Status</a>
</nav>
</header>
<main>
<h1><xsl:call-template name="title"/></h1>
<xsl:call-template name="content"/>
</main>
<footer>
<p>Volunteer computing with Quorate</p>
</footer>
</body>
</html>
</xsl:template>

<xsl:template name="head"/>
<xsl:template name="title"/>
<xsl:template name="content"/>
</xsl:stylesheet>
